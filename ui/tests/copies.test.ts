import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { copyForms as resultForms, textOfResult } from "../src/evaluations/copies";
import type { Result } from "../src/evaluations/queries";
import { copyForms, pythonCode, textOfEpisode } from "../src/runs/copies";
import { apiCurl } from "../src/snippets";

const call = (name: string, kwargs: object, observation: string, party = "agent") => ({
  action: { name, kwargs, party },
  observation,
  source: name,
  user_calls: [],
});

describe("copies of an episode", () => {
  it("is a conversation as text: what was said, called and given back, in order", () => {
    const record = {
      opening: "Hello",
      opening_calls: [],
      steps: [
        call("look", { at: 7 }, "found"),
        {
          ...call("respond", { content: "It is there." }, "Thank you"),
          source: "user",
          user_calls: [call("restart", {}, "ok", "user")],
        },
        { ...call("respond", { content: "Bye" }, "Error: too late"), source: "respond" },
      ],
    };
    expect(textOfEpisode(record).split("\n\n")).toEqual([
      "User: Hello",
      'Agent calls look({"at":7})\n→ found',
      "Agent: It is there.",
      "User calls restart({})\n→ ok",
      "User: Thank you",
      "Agent: Bye",
    ]);
    expect(textOfEpisode(null)).toBe("");
  });

  it("has every form that turns have", () => {
    const names = copyForms({ run: "mine", task: 1, trial: 0 }).map((form) => form.name);
    expect(names).toEqual(["Text", "JSON", "curl", "Python", "Address"]);
  });

  it("asks the API at an address that the shell leaves as it is", () => {
    const line = apiCurl("http://127.0.0.1:8700", ["runs", "it's; a name/x", "episodes", 1, 0, "record"]);
    const words = execFileSync("sh", ["-c", line.replace("curl", "printf '%s|'")], { env: { GREENROOM_TOKEN: "t" } });
    expect(words.toString().split("|").slice(0, 4)).toEqual([
      "-s",
      "http://127.0.0.1:8700/api/v1/runs/it's%3B%20a%20name%2Fx/episodes/1/0/record",
      "-H",
      "Authorization: Bearer t",
    ]);
  });

  it("names the run as Python and as a shell read it", () => {
    const code = pythonCode({ run: 'a "b"\nimport os', task: 3, trial: 2 });
    expect(code).toContain('find("a \\"b\\"\\nimport os")');
    expect(code).toContain("greenroom replay 'a \"b\" import os' 3 --from-turn 1 --trial 2");
    expect(code.split("\n")).not.toContain("import os");
  });
});

describe("copies of a result", () => {
  const completion = { item: 4, trial: 1, messages: null, inputs: { country: "Peru" }, outputs: "Lima", error: null };
  it("has every form that turns have", () => {
    const names = resultForms("desk", completion as unknown as Result).map((form) => form.name);
    expect(names).toEqual(["Text", "Output as JSON", "JSON", "curl", "Python"]);
  });
  it("is text: the conversation, or what went in and came out", () => {
    expect(textOfResult(completion as unknown as Result)).toBe("country: Peru\n\noutput: Lima");
    expect(textOfResult({ ...completion, error: "broke" } as unknown as Result)).toContain("error: broke");
    const messages = [{ role: "user", content: "Hi" }];
    expect(textOfResult({ ...completion, messages } as unknown as Result)).toBe("user: Hi");
  });
});
