import { useState } from "react";
import { isObject } from "../json";
import { defaultsOf, fieldFor, type Schema, withField } from "../schema";
import { SchemaField } from "./SchemaField";
import { JsonField } from "./TypedField";

interface SchemaFormProps {
  /** The JSON schema of the value; null where nothing is known of it. */
  schema: unknown;
  value: unknown;
  onChange: (value: unknown) => void;
  /** What the form is for. */
  label: string;
  disabled?: boolean;
  /** Names that are shown elsewhere, such as `messages` in a chat. */
  without?: readonly string[];
}

/** A form made from a JSON schema, from its root. What nobody edits stays as it is, to the last sign. */
export function SchemaForm({ schema, value, onChange, label, disabled, without = [] }: SchemaFormProps) {
  const [asJson, setAsJson] = useState(false);
  const root: Schema = isObject(schema) ? schema : {};
  const field = fieldFor(root, value, root);
  const fields = field.kind === "record" ? field.fields.filter((one) => !without.includes(one.name)) : null;
  return (
    <fieldset className="schema-form" disabled={disabled}>
      <legend className="hidden-label">{label}</legend>
      {asJson || !fields ? (
        <JsonField name={label} value={value} onChange={onChange} />
      ) : (
        <>
          {!fields.length && <p className="quiet">There is nothing to fill in.</p>}
          {fields.map((one) => (
            <SchemaField
              key={one.name}
              name={one.name}
              schema={one.schema}
              root={root}
              value={isObject(value) ? value[one.name] : undefined}
              optional={!one.required}
              onChange={(next) => onChange(withField(value, one.name, next))}
            />
          ))}
        </>
      )}
      <div className="field-row">
        {fields && (
          <button type="button" className="small plain" aria-pressed={asJson} onClick={() => setAsJson(!asJson)}>
            As JSON
          </button>
        )}
        {fields && value === undefined && (
          <button type="button" className="small plain" onClick={() => onChange(defaultsOf(root, root))}>
            Fill with defaults
          </button>
        )}
      </div>
    </fieldset>
  );
}
