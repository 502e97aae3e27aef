/** The areas in the bar, and what one can do in each. */
export const AREAS = [
  {
    to: "/workflows",
    name: "Workflows",
    does: "See what can be talked to: workflows declared here, served by URL, and agents of the benchmark.",
  },
  {
    to: "/boards",
    name: "Boards",
    does: "Talk to workflows: several conversations side by side, or rows of inputs and their outputs.",
  },
  {
    to: "/test-sets",
    name: "Test sets",
    does: "Browse, edit, import and export rows and conversations, and see what changed between versions.",
  },
  {
    to: "/evaluations",
    name: "Evaluations",
    does: "Score a workflow over a test set, look at what failed, compare two evaluations row by row.",
  },
  {
    to: "/runs",
    /** Trends are of runs. */
    also: "/trends",
    name: "Runs",
    does: "Follow benchmark runs, read their figures and episodes, go back to any turn and play on from there.",
  },
  { to: "/notes", name: "Notes", does: "Read what people marked, filter it, and see where they differ." },
] as const;
