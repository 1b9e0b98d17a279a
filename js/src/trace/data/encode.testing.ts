import type { Header, Track } from "./header";

/** An event: start and duration in the unit of the trace, and its name. */
export type Written = [start: number, duration: number, name: string];

/** Writes a trace of tracks of lanes of events, in the format of docs/trace-format.md. */
export async function encode(
  tracks: Written[][][],
  header: Partial<Header> = {},
): Promise<{ header: Header; payload: Uint8Array<ArrayBuffer> }> {
  const events = tracks.flat(2);
  const names = [...new Set(events.map(([, , name]) => name))];
  const gaps = tracks.flatMap((lanes) => lanes.flatMap(gapsOf));
  const planes = [
    ...bytePlanes(gaps, 6),
    ...bytePlanes(
      events.map(([, duration]) => duration),
      6,
    ),
    ...bytePlanes(
      events.map(([, , name]) => names.indexOf(name)),
      3,
    ),
  ];
  const full: Header = {
    version: 1,
    unit_ps: 1000,
    span_ps: 1000 * Math.max(...events.map(([start, duration]) => start + duration), 0),
    events: events.length,
    names,
    colors: names.map((_, index) => index),
    groups: [{ label: "/host:CPU", kind: "host" }],
    tracks: tracks.map((lanes, index) => track(lanes, index)),
    steps: [],
    ...header,
  };
  return { header: full, payload: await deflate(Uint8Array.from(planes)) };
}

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function track(lanes: Written[][], index: number): Track {
  const depths = lanes.map((lane) => lane.length);
  return { group: 0, label: `thread ${index}`, kind: "thread", depths, busy_share: 0.5 };
}

function gapsOf(lane: Written[]): number[] {
  let end = 0;
  return lane.map(([start, duration]) => {
    const gap = start - end;
    end = start + duration;
    return gap;
  });
}

function bytePlanes(values: number[], width: number): number[] {
  return Array.from({ length: width }, (_, plane) =>
    values.map((v) => Number((BigInt(v) >> BigInt(8 * plane)) & 255n)),
  ).flat();
}
