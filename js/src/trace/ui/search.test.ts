import { describe, expect, it } from "vitest";
import { matchNames, matchOp } from "./search";

describe("matchNames", () => {
  const names = ["MatMul", "BatchMatMulV2", "Relu"];

  it("finds parts of names in any case", () => {
    expect([...matchNames(names, "matmul")]).toEqual([1, 1, 0]);
  });
});

describe("matchOp", () => {
  it("finds an op with and without its type, and no other op that begins alike", () => {
    expect([
      ...matchOp(["dense/MatMul", "dense/MatMul:MatMul", "dense/MatMul_1:MatMul"], "dense/MatMul"),
    ]).toEqual([1, 1, 0]);
  });
});
