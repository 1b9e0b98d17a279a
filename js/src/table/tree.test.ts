import { describe, expect, it } from "vitest";
import { makeColumn } from "./columns";
import { Tree } from "./tree";

//   0 root            9
//   1   a             2
//   2     a/x         1
//   3     a/y         1.5
//   4   b             7
//   5     b/z         7
//   6       b/z/deep  3
//   7         leaf    3
const depths = [0, 1, 2, 2, 1, 2, 3, 4];
const header = { key: "us", header: "", kind: "us", bar: false, meaning: "" } as const;
const times = makeColumn(header, Float64Array.of(9, 2, 1, 1.5, 7, 7, 3, 3).buffer);
const all = Uint32Array.from(depths, (_, row) => row);

describe("a tree of rows", () => {
  it("sorts siblings, and keeps children below their parents", () => {
    const tree = new Tree(depths);
    expect([...tree.arrange(all, times, "descending", true)]).toEqual([0, 4, 5, 6, 7, 1, 3, 2]);
    expect([...tree.arrange(all, null, "descending", true)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it("opens three levels at first, and what is opened then", () => {
    const tree = new Tree(depths);
    expect([...tree.arrange(all, null, "ascending", false)]).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(["leaf", "closed", "open"]).toEqual([tree.state(7), tree.state(6), tree.state(0)]);
    tree.setOpen(6, true);
    tree.setOpen(1, false);
    expect([...tree.arrange(all, null, "ascending", false)]).toEqual([0, 1, 4, 5, 6, 7]);
  });

  it("shows what is found with the rows above it", () => {
    const tree = new Tree(depths);
    expect([...tree.arrange(Uint32Array.of(7), null, "ascending", true)]).toEqual([0, 4, 5, 6, 7]);
    expect([...tree.arrange(new Uint32Array(), null, "ascending", true)]).toEqual([]);
  });
});
