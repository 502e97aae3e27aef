import { QueryObserver } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { Queries } from "../src/api/queries";

test("what changes during the first load is asked for again", async () => {
  const answers: Array<(value: string) => void> = [];
  const queries = new Queries();
  const list = new QueryObserver(queries, {
    queryKey: ["list"],
    queryFn: () => new Promise<string>((resolve) => answers.push(resolve)),
  });
  const stop = list.subscribe(() => undefined);
  const refreshed = queries.invalidateQueries({ queryKey: ["list"] });
  answers[0]?.("before");
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.("after");
  await refreshed;
  expect(queries.getQueryData(["list"])).toBe("after");
  stop();
});

test("other queries are left alone", async () => {
  let asked = 0;
  const queries = new Queries();
  const list = new QueryObserver(queries, { queryKey: ["list"], queryFn: async () => ++asked, staleTime: 60_000 });
  const stop = list.subscribe(() => undefined);
  await expect.poll(() => queries.getQueryData(["list"])).toBe(1);
  await queries.invalidateQueries({ queryKey: ["other"] });
  expect(asked).toBe(1);
  stop();
});
