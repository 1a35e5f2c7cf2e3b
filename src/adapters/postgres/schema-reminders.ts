/** Until when people were told of open questions, and until where of new ones: known to all who tell them. */
export const REMINDERS = (schema: string): string => `
  CREATE TABLE ${schema}.reminder (
    what text COLLATE "C" PRIMARY KEY,
    until double precision NOT NULL
  );
`;
