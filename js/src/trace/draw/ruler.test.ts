import { expect, it } from "vitest";
import { stepLabels } from "./ruler";

const context = { measureText: (text: string) => ({ width: 6 * text.length }) as TextMetrics };

/** Steps of a width after one another, with a pause after some. */
function steps(count: number, width: number, pauseAfter: number) {
  const left = (k: number) => k * width + (k > pauseAfter ? 200 : 0);
  return Array.from({ length: count }, (_, step) => ({
    step,
    odd: step % 2 === 1,
    left: left(step),
    right: left(step) + width,
  }));
}

const texts = (...given: Parameters<typeof steps>) =>
  stepLabels(context, steps(...given), 5000).map(({ text }) => text);

it("labels steps at a distance that is the same everywhere, whatever pauses are between them", () => {
  expect(texts(200, 4, 127)).toEqual(Array.from({ length: 19 }, (_, k) => String(10 * k + 10)));
  expect(texts(12, 20, 5)).toEqual(Array.from({ length: 12 }, (_, k) => String(k)));
});

it("writes the word where there is room, and labels a single step", () => {
  expect(texts(1, 60, 0)).toEqual(["step 0"]);
  expect(texts(1, 2, 0)).toEqual([]);
});

it("ends where all steps have the same number", () => {
  const same = steps(50, 2, 10).map((step) => ({ ...step, step: 7 }));
  expect(stepLabels(context, same, 5000).length).toBeLessThan(50);
});
