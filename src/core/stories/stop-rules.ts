/** A rule that ends a loop without progress, before its budget is used up. */
interface StopRule {
  /** A short reason for one line of a list. */
  readonly text: string;
  /** What a person can do about it. */
  readonly advice: string;
  /** The key below `stall` in the config, its description and its default; 0 and `false` switch the rule off. */
  readonly setting?: { readonly key: string; readonly description: string; readonly default: number | boolean };
}

/** One row per rule; `decide/converge.ts` decides when it applies. The names are stored in journals. */
export const STOP_RULES = {
  "same-failure": {
    text: "the same failure again and again",
    advice: "The agent does not see the cause. Name it in the guidance, or give the work to another role.",
    setting: {
      key: "sameFailure",
      description: "Ends the loop when the same failure occurred this many times.",
      default: 3,
    },
  },
  "no-change": {
    text: "the rework changed nothing",
    advice: "The agent believes it is done. Check the criterion by hand: waive the finding, or say what is missing.",
    setting: {
      key: "unchanged",
      description: "Ends the loop after this many reworks in a row that changed nothing.",
      default: 1,
    },
  },
  oscillation: {
    text: "the work goes in circles",
    advice: "Two demands exclude each other. Decide which one holds and say so in the guidance.",
    setting: {
      key: "oscillation",
      description: "Ends the loop when the work is back at an earlier state.",
      default: true,
    },
  },
  plateau: {
    text: "no progress",
    advice: "The findings do not get fewer. Split the story, or say which findings matter.",
    setting: {
      key: "plateau",
      description:
        "Ends the loop after this many rounds in a row that fixed no test and no finding for the first time.",
      default: 2,
    },
  },
  "regression-cascade": {
    text: "regression cascade",
    advice: "The best tree was brought back. Send it back with a narrower task.",
    setting: {
      key: "cascade",
      description: "Ends the loop when a rework broke a test that passed before; the best state is restored first.",
      default: true,
    },
  },
  "trouble-spot": {
    text: "persistent trouble spot",
    advice: "This code keeps failing. Look at it yourself, or have it rewritten.",
  },
} as const satisfies Readonly<Record<string, StopRule>>;

/** A rule that ended a loop without progress. */
export type Stall = keyof typeof STOP_RULES;
export const STALLS = Object.keys(STOP_RULES) as [Stall, ...Stall[]];

type Setting = Extract<(typeof STOP_RULES)[Stall], { readonly setting: unknown }>["setting"];

/** The settings of the rules, by key. */
export type StopSettings = {
  readonly [S in Setting as S["key"]]: S["default"] extends boolean ? boolean : number;
};

/** Makes one value per setting, for example its schema, from its description. */
export function byStopSetting<C, F>(make: {
  readonly count: (description: string) => C;
  readonly flag: (description: string) => F;
}): { readonly [S in Setting as S["key"]]: S["default"] extends boolean ? F : C } {
  const rows: readonly StopRule[] = Object.values(STOP_RULES);
  return Object.fromEntries(
    rows.flatMap(({ setting }) => {
      if (setting === undefined) return [];
      const { key, description } = setting;
      return [[key, typeof setting.default === "boolean" ? make.flag(description) : make.count(description)] as const];
    }),
  ) as ReturnType<typeof byStopSetting<C, F>>;
}

export function defaultStopSettings(): StopSettings {
  const rows: readonly StopRule[] = Object.values(STOP_RULES);
  return Object.fromEntries(
    rows.flatMap(({ setting }) => (setting === undefined ? [] : [[setting.key, setting.default] as const])),
  ) as StopSettings;
}
