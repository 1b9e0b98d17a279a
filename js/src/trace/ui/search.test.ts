import { describe, expect, it } from "vitest";
import { matchNames, matchOp } from "./search";

describe("matchNames", () => {
  const names = ["MatMul", "BatchMatMulV2", "Relu"];

  it("finds parts of names in any case", () => {
    expect([...matchNames(names, "matmul")]).toEqual([1, 1, 0]);
  });
});

describe("matchOp", () => {
  it("finds a stage on every branch of its pipeline", () => {
    const names = ["Iterator::Root::Zip[0]::Map", "Iterator::Root::Zip[1]::Map", "Iterator::Root::Zip"];
    expect([...matchOp(names, "Iterator::Root::Zip::Map")]).toEqual([1, 1, 0]);
    expect([...matchOp(names, "Iterator::Root::Zip[1]::Map")]).toEqual([0, 1, 0]);
    expect([...matchOp(names, "Iterator::Root::Zip")]).toEqual([0, 0, 1]);
    expect([...matchOp(["Iterator::Root::Zip", "Iterator::Root"], "Iterator::Root")]).toEqual([0, 1]);
  });

  it("finds an op with and without its type, and no other op that begins alike", () => {
    expect([
      ...matchOp(["dense/MatMul", "dense/MatMul:MatMul", "dense/MatMul_1:MatMul"], "dense/MatMul"),
    ]).toEqual([1, 1, 0]);
  });
});
