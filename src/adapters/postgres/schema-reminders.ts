/** Until when somebody was reminded of open questions: one row, known to all who remind. */
export const REMINDERS = (schema: string): string => `
  CREATE TABLE ${schema}.reminder (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    minded_until double precision NOT NULL
  );
`;
