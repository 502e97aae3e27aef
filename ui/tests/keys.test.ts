import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bindingFor, type Key, keyWords, matches } from "../src/keys";

const pressed = (key: string, held: Partial<KeyboardEvent> = {}) => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});
const page = { inField: false, inDialog: false };
const run = () => undefined;

describe("key names", () => {
  test("Mod is Ctrl or Cmd", () => {
    expect(matches("Mod+Enter", pressed("Enter", { ctrlKey: true }))).toBe(true);
    expect(matches("Mod+Enter", pressed("Enter", { metaKey: true }))).toBe(true);
    expect(matches("Mod+Enter", pressed("Enter"))).toBe(false);
    expect(matches("Enter", pressed("Enter", { ctrlKey: true }))).toBe(false);
  });
  test("Shift tells named keys apart, but not signs that need it", () => {
    expect(matches("Enter", pressed("Enter", { shiftKey: true }))).toBe(false);
    expect(matches("Shift+Enter", pressed("Enter", { shiftKey: true }))).toBe(true);
    expect(matches("?", pressed("?", { shiftKey: true }))).toBe(true);
    expect(matches("j", pressed("J", { shiftKey: true }))).toBe(false);
    expect(matches("Mod+Shift+Z", pressed("Z", { ctrlKey: true, shiftKey: true }))).toBe(true);
    expect(matches("Mod+Z", pressed("Z", { ctrlKey: true, shiftKey: true }))).toBe(false);
  });
  test("a browser's own shortcuts with Ctrl, Cmd or Alt stay its own", () => {
    const signs = fc.constantFrom("j", "k", "/", "?", "x");
    const held = fc.constantFrom("ctrlKey", "metaKey", "altKey");
    fc.assert(fc.property(signs, held, (sign, key) => !matches(sign, pressed(sign, { [key]: true }))));
  });
  test("names for people", () => {
    expect(keyWords("Mod+Enter")).toEqual(["Ctrl", "Enter"]);
    expect(keyWords("ArrowDown")).toEqual(["↓"]);
  });
});

describe("which binding a key has", () => {
  const lower: Key = { keys: ["j", "ArrowDown"], does: "Next", run };
  const upper: Key = { keys: "j", does: "Next within", run };
  const send: Key = { keys: "Mod+Enter", does: "Run", run, inFields: true };
  const listed: Key = { keys: "Enter", does: "Send" };

  test("the latest registered wins", () => {
    expect(bindingFor([[lower], [upper]], pressed("j"), page)).toBe(upper);
    expect(bindingFor([[lower], [upper]], pressed("ArrowDown"), page)).toBe(lower);
  });
  test("letters go into a field; what is meant for fields works there", () => {
    expect(bindingFor([[lower, send]], pressed("j"), { ...page, inField: true })).toBeNull();
    expect(bindingFor([[lower, send]], pressed("Enter", { ctrlKey: true }), { ...page, inField: true })).toBe(send);
  });
  test("the page's keys rest while a dialog is open", () => {
    expect(bindingFor([[lower]], pressed("j"), { ...page, inDialog: true })).toBeNull();
    expect(bindingFor([[{ ...lower, inDialogs: true }]], pressed("j"), { ...page, inDialog: true })).not.toBeNull();
  });
  test("keys that are only listed do nothing", () => {
    expect(bindingFor([[listed]], pressed("Enter"), page)).toBeNull();
  });
});
