/** What lists can be narrowed to by notes; apart from the pages, so that the routes stay small. */
export const NOTED = ["any", "agent", "user", "task", "environment"] as const;
export type Noted = (typeof NOTED)[number];

export const VERDICT_CHOICES = [...NOTED, "none"] as const;
export type VerdictChoice = (typeof VERDICT_CHOICES)[number];
