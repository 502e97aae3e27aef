import { useQuery } from "@tanstack/react-query";
import { type Workflow, workflowQuery, workflowsQuery } from "./api";

/** What is known of a workflow: from the list where it is there, else asked for. */
export function useWorkflow(address: string): Workflow | undefined {
  const list = useQuery(workflowsQuery);
  const listed = list.data?.items.find((one) => one.address === address);
  const asked = useQuery({ ...workflowQuery(address), enabled: list.isSuccess && !listed });
  return listed ?? asked.data;
}

/** Why nothing is known of a workflow: its file is not named any more, or it was renamed. */
export function useWorkflowProblem(address: string): Error | null {
  return useQuery({ ...workflowQuery(address), enabled: false }).error;
}

/** A name for a workflow that is not known yet: the last part of its address. */
export function shortName(address: string): string {
  const path = address.replace(/\/+$/, "");
  return /^https?:/.test(path) ? path.replace(/^https?:\/\//, "") : (path.split(/[:/]/).at(-1) ?? address);
}
