// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { notebook } from "./open_profile";
import { withMagic } from "./profile_cell";

it("puts the magic on top of a cell once", () => {
  expect(withMagic("model.fit(x)")).toBe("%%tfprofile\nmodel.fit(x)");
  expect(withMagic("\n%%tfprofile --steps 3\nmodel.fit(x)")).toBe("\n%%tfprofile --steps 3\nmodel.fit(x)");
});

it("loads files under names that Python reads as they are", () => {
  const source = (names: string[]) =>
    (notebook(names) as { content: { cells: { source: string }[] } }).content.cells[0]?.source;
  expect(source(['a "b".xplane.pb'])).toContain('p = tp.load("a \\"b\\".xplane.pb")');
  expect(source(['");import os;os.system("x")#\n\\'])).toContain(
    'p = tp.load("\\");import os;os.system(\\"x\\")#\\n\\\\")\np',
  );
  expect(source(["a.xplane.pb", "b.xplane.pb"])).toContain('tp.load(["a.xplane.pb", "b.xplane.pb"])');
});
