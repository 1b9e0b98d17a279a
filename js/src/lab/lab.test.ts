// @vitest-environment happy-dom
import { expect, it, vi } from "vitest";
import { withMagic } from "./profile_cell";

vi.mock("@jupyterlab/ui-components", () => ({ IFrame: class {} }));

it("puts the magic on top of a cell once", () => {
  expect(withMagic("model.fit(x)")).toBe("%%tfprofile\nmodel.fit(x)");
  expect(withMagic("\n%%tfprofile --steps 3\nmodel.fit(x)")).toBe("\n%%tfprofile --steps 3\nmodel.fit(x)");
});

it("loads files under names that Python reads as they are", async () => {
  const { source } = await import("./profile_view");
  expect(source(['a "b".xplane.pb'])).toContain('load("a \\"b\\".xplane.pb")');
  expect(source(['");import os;os.system("x")#\n\\'])).toContain(
    'load("\\");import os;os.system(\\"x\\")#\\n\\\\")',
  );
  expect(source(["a.xplane.pb", "b.xplane.pb"])).toContain('load(["a.xplane.pb", "b.xplane.pb"])');
});
