import { defineConfig } from "vitest/config";

export default defineConfig({
  // What hangs: how long a test takes, a busy machine decides.
  test: { include: ["src/**/*.test.ts"], environment: "node", testTimeout: 300_000, hookTimeout: 300_000 },
});
