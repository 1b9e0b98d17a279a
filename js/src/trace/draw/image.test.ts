import { describe, expect, it } from "vitest";
import { repeatLine } from "./image";

describe("repeatLine", () => {
  it("copies the first line of a strip to the others", () => {
    const image = Uint32Array.of(0, 0, 1, 2, 0, 0, 0, 0);
    repeatLine(image, 2, 1, 2);
    expect([...image]).toEqual([0, 0, 1, 2, 1, 2, 0, 0]);
  });
});
