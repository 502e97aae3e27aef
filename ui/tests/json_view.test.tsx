import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { glimpse, JsonView } from "../src/components/JsonView";

const entries = (value: object) => Object.entries(value);

test("what is closed shows its beginning, lists as lists", () => {
  expect(glimpse(entries({ a: 1, b: [2] }), false)).toBe('"a":1,"b":[2]');
  expect(glimpse(entries([{ title: "One" }, 2]), true)).toBe('{"title":"One"},2');
  expect(glimpse(entries([1, 2, 3, 4, 5]), true)).toBe("1,2,3,4,…");
  expect(glimpse(entries(["x".repeat(100)]), true)).toBe(`"${"x".repeat(59)}…`);
  const shown = renderToStaticMarkup(<JsonView value={[{ title: "One" }]} depth={0} />);
  expect(shown).toContain("{&quot;title&quot;:&quot;One&quot;} ] 1 item");
});
