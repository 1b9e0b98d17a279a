import { expect, it } from "vitest";
import { headerWidth } from "./cells";

it.each([
  ["step", 4],
  ["device compute (ms)", 12], // device / compute (ms)
  ["self time (µs)", 9], // self time / (µs)
])("gives the header %s room for %d bold characters and an arrow", (header, characters) => {
  expect(headerWidth(header, 3)).toBe(Math.ceil(characters * 1.1) + 3);
});
