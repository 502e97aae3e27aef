import { useId, useState } from "react";
import { briefly, isObject, sameJson } from "../json";
import {
  type Field,
  fieldFor,
  optionName,
  optionOf,
  resolved,
  type Schema,
  startValue,
  titleOf,
  withField,
  withItem,
} from "../schema";
import { JsonField, TypedField } from "./TypedField";

interface SchemaFieldProps {
  name: string;
  schema: Schema;
  root: Schema;
  /** undefined: not set. */
  value: unknown;
  optional: boolean;
  onChange: (value: unknown) => void;
}

/** One value of a form, by its schema. */
export function SchemaField(props: SchemaFieldProps) {
  const { name, schema, root, value, optional, onChange } = props;
  const id = useId();
  const found = resolved(schema, root);
  const field = fieldFor(schema, value, root);
  const isGroup = field.kind === "list" || field.kind === "record";
  const description = typeof found.description === "string" ? found.description : null;
  const title = titleOf(schema, root, name);
  const beside = (
    <>
      {optional && value === undefined && "default" in found && (
        <span className="hint">default: {found.default === "" ? "empty" : briefly(found.default, 40)}</span>
      )}
      {!optional && value === undefined && <span className="hint">required</span>}
      {optional && value !== undefined && (
        <button type="button" className="link hint" aria-label={`Unset ${title}`} onClick={() => onChange(undefined)}>
          unset
        </button>
      )}
      {description && <span className="hint">{description}</span>}
    </>
  );
  const control = <Control {...props} field={field} id={id} />;
  return isGroup ? (
    <fieldset className="field inside">
      <legend>{title}</legend>
      <div className="field-head">{beside}</div>
      {control}
    </fieldset>
  ) : (
    <div className="field">
      <div className="field-head">
        <label htmlFor={id}>{title}</label>
        {beside}
      </div>
      {control}
    </div>
  );
}

type ControlProps = SchemaFieldProps & { field: Field; id: string };

function Control(props: ControlProps) {
  const { field, id, name, value, onChange } = props;
  switch (field.kind) {
    case "text":
    case "number":
      return <TypedField id={id} field={field} value={value} onChange={onChange} />;
    case "json":
      return <JsonField id={id} name={name} value={value} onChange={onChange} />;
    case "flag":
      return (
        <select id={id} value={String(value)} onChange={(event) => onChange(FLAGS[event.target.value])}>
          {value === undefined && <option value="undefined">not set</option>}
          <option value="true">yes</option>
          <option value="false">no</option>
        </select>
      );
    case "choice":
      return <Choice {...props} choices={field.choices} />;
    case "nullable":
      return <Nullable {...props} inner={field.inner} />;
    case "union":
      return <Union {...props} options={field.options} />;
    case "list":
      return <List {...props} item={field.item} />;
    case "record":
      return <Group {...props} field={field} />;
  }
}

const FLAGS: Record<string, boolean | undefined> = { true: true, false: false };

function Choice({ id, choices, value, onChange }: ControlProps & { choices: unknown[] }) {
  const at = choices.findIndex((choice) => sameJson(choice, value));
  return (
    <select id={id} value={at} onChange={(event) => onChange(choices[Number(event.target.value)])}>
      {at < 0 && <option value={-1}>not set</option>}
      {choices.map((choice, place) => (
        <option key={JSON.stringify(choice)} value={place}>
          {typeof choice === "string" ? choice : JSON.stringify(choice)}
        </option>
      ))}
    </select>
  );
}

function Nullable(props: ControlProps & { inner: Schema }) {
  const { id, inner, root, value, onChange } = props;
  // A number that is deleted on the way to another one is still being typed.
  const [typing, setTyping] = useState(false);
  if (value === null || (value === undefined && !typing)) {
    return (
      <div className="field-row">
        <select id={id} value={String(value)} onChange={(event) => event.target.value === "null" && onChange(null)}>
          {value === undefined && <option value="undefined">not set</option>}
          <option value="null">null</option>
        </select>
        <button
          type="button"
          onClick={() => {
            setTyping(true);
            onChange(startValue(inner, root) ?? "");
          }}
        >
          Set a value
        </button>
      </div>
    );
  }
  return (
    <div className="field-row">
      <div className="field">
        <Control {...props} schema={inner} field={fieldFor(inner, value, root)} />
      </div>
      <button
        type="button"
        onClick={() => {
          setTyping(false);
          onChange(null);
        }}
      >
        null
      </button>
    </div>
  );
}

/** A value of one of several kinds: first the kind, then the value. */
function Union(props: ControlProps & { options: Schema[] }) {
  const { id, options, root, value, name, onChange } = props;
  const inner = useId();
  const [chosen, setChosen] = useState(-1);
  const fitting = optionOf(options, value, root);
  const at = fitting < 0 && value === undefined ? chosen : fitting;
  const option = options[at];
  const choose = (place: number) => {
    setChosen(place);
    onChange(startValue(options[place], root));
  };
  return (
    <>
      <select id={id} value={at} onChange={(event) => choose(Number(event.target.value))}>
        {at < 0 && <option value={-1}>{value === undefined ? "not set" : "something else"}</option>}
        {options.map((one, place) => (
          // Options have no names, and their order does not change.
          // biome-ignore lint/suspicious/noArrayIndexKey: See above.
          <option key={place} value={place}>
            {optionName(one, root)}
          </option>
        ))}
      </select>
      {option && resolved(option, root).type !== "null" && (
        <Control {...props} id={inner} schema={option} field={fieldFor(option, value, root)} />
      )}
      {!option && value !== undefined && <JsonField name={name} value={value} onChange={onChange} />}
    </>
  );
}

function List({ item, root, value, onChange }: ControlProps & { item: Schema }) {
  const items: unknown[] = Array.isArray(value) ? value : [];
  return (
    <>
      {items.map((one, place) => (
        // Items of a list have no names.
        // biome-ignore lint/suspicious/noArrayIndexKey: See above.
        <div className="field-row" key={place}>
          <SchemaField
            name={`${place + 1}.`}
            schema={item}
            root={root}
            value={one}
            optional={false}
            onChange={(next) => onChange(items.map((other, at) => (at === place ? next : other)))}
          />
          <button
            type="button"
            aria-label={`Remove item ${place + 1}`}
            onClick={() => onChange(withItem(items, place, undefined))}
          >
            ×
          </button>
        </div>
      ))}
      <div>
        <button type="button" className="small" onClick={() => onChange([...items, startValue(item, root)])}>
          Add an item
        </button>
      </div>
    </>
  );
}

function Group({ field, root, value, onChange }: ControlProps & { field: Extract<Field, { kind: "record" }> }) {
  const [name, setName] = useState("");
  const record = isObject(value) ? value : {};
  const add = () => {
    if (name && !Object.hasOwn(record, name)) onChange(withField(record, name, startValue(field.more, root) ?? ""));
    setName("");
  };
  return (
    <>
      {field.fields.map((one) => (
        <SchemaField
          key={one.name}
          name={one.name}
          schema={one.schema}
          root={root}
          value={record[one.name]}
          optional={!one.required}
          onChange={(next) => onChange(withField(record, one.name, next))}
        />
      ))}
      {field.more && !field.fields.some((one) => one.known) && (
        <div className="field-row">
          <input
            aria-label="Name of another field"
            placeholder="name"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
          <button type="button" onClick={add} disabled={!name}>
            Add
          </button>
        </div>
      )}
    </>
  );
}
