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

test("what changes while an answer is under way that no page waits for any more is asked for again later", async () => {
  const answers: Array<(value: string) => void> = [];
  const queries = new Queries();
  const list = new QueryObserver(queries, {
    queryKey: ["list"],
    queryFn: () => new Promise<string>((resolve) => answers.push(resolve)),
    staleTime: 60_000,
  });
  const leave = list.subscribe(() => undefined);
  answers[0]?.("first");
  await expect.poll(() => queries.getQueryData(["list"])).toBe("first");
  void list.refetch();
  await expect.poll(() => answers.length).toBe(2);
  leave();
  const refreshed = queries.invalidateQueries({ queryKey: ["list"] });
  answers[1]?.("before");
  await refreshed;
  const back = list.subscribe(() => undefined);
  await expect.poll(() => answers.length).toBe(3);
  answers[2]?.("after");
  await expect.poll(() => queries.getQueryData(["list"])).toBe("after");
  back();
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
