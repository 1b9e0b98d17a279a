import { describe, expect, it } from "vitest";
import { Viewport } from "./viewport";

function viewport(): Viewport {
  const view = new Viewport(1000, 10);
  view.width = 100;
  return view;
}

describe("Viewport", () => {
  it("shows everything at first", () => {
    const view = viewport();
    expect([view.start, view.end]).toEqual([0, 1000]);
    expect(view.toPx(250)).toBe(25);
    expect(view.toTime(25)).toBe(250);
  });

  it("zooms around the pointer", () => {
    const view = viewport();
    view.zoom(2, 30);
    expect([view.start, view.end]).toEqual([150, 650]);
    expect(view.toTime(30)).toBe(300);
  });

  it("stays within the trace", () => {
    const view = viewport();
    view.show(800, 1200);
    expect([view.start, view.end]).toEqual([600, 1000]);
    view.pan(1000);
    expect([view.start, view.end]).toEqual([600, 1000]);
    view.zoom(0.01, 0);
    expect([view.start, view.end]).toEqual([0, 1000]);
  });

  it("never shows less than the shortest time", () => {
    const view = viewport();
    view.show(500, 500);
    expect([view.start, view.end]).toEqual([495, 505]);
  });

  it("moves to a time that is not visible, and stays at one that is", () => {
    const view = viewport();
    view.show(0, 100);
    view.reveal(50, 500);
    expect([view.start, view.end]).toEqual([0, 100]);
    view.reveal(400, 420);
    expect([view.start, view.end]).toEqual([360, 460]);
  });
});
