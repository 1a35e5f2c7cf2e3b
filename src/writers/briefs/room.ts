/** How much each part of a brief may take. Lists are counted in items, texts in characters. */
export interface Room {
  readonly information: number;
  readonly earlier: number;
  readonly earlierChars: number;
  /** Findings told of each earlier attempt. */
  readonly earlierFindings: number;
  readonly evidence: number;
  readonly evidenceChars: number;
  readonly suspects: number;
  readonly items: number;
  readonly itemChars: number;
  /** What is told of a finding below its line: values, a difference, the nearest frames. */
  readonly detailChars: number;
  readonly goalChars: number;
  readonly roleChars: number;
}

/** Where every brief starts. A field of this size is more than anybody reads; nothing useful is lost here. */
export const ALL_THE_ROOM: Room = {
  information: 50,
  earlier: 10,
  earlierChars: 800,
  earlierFindings: 20,
  evidence: 8,
  evidenceChars: 12_000,
  suspects: 8,
  items: 100,
  itemChars: 1200,
  detailChars: 1500,
  goalChars: 20_000,
  roleChars: 30_000,
};

/**
 * What is given up, in this order, while a brief is too long: first what the agent could do without, last what
 * says why it failed. Suspects and the head and tail of the failing output stay to the end.
 */
const GIVEN_UP: readonly Partial<Room>[] = [
  { information: 10 },
  { information: 0 },
  { earlierChars: 300 },
  { earlierFindings: 8, earlierChars: 150 },
  { earlier: 4, earlierFindings: 4 },
  { evidenceChars: 6000 },
  { detailChars: 500 },
  { evidenceChars: 3000 },
  { goalChars: 6000 },
  { roleChars: 10_000 },
  { items: 40, itemChars: 500, detailChars: 200 },
  { goalChars: 2000 },
  { roleChars: 3000 },
  { evidence: 4, evidenceChars: 1500 },
  { items: 15, itemChars: 240, detailChars: 120 },
  { earlier: 2, earlierChars: 80, earlierFindings: 2, suspects: 4 },
  { roleChars: 1000, goalChars: 600 },
  { items: 6, itemChars: 120, detailChars: 0 },
  { evidence: 1, evidenceChars: 600, suspects: 2 },
  {
    items: 2,
    itemChars: 80,
    roleChars: 200,
    goalChars: 200,
    evidenceChars: 300,
    suspects: 1,
    earlier: 1,
    earlierFindings: 1,
  },
  { items: 1, itemChars: 50 },
];

/** The rooms to try, each smaller than the one before. */
export const ROOMS: readonly Room[] = GIVEN_UP.reduce<Room[]>(
  (rooms, less) => [...rooms, { ...rooms.at(-1)!, ...less }],
  [ALL_THE_ROOM],
);
