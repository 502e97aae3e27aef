export type Choices = readonly (readonly [value: string, words: string])[];

interface ChoiceProps {
  label: string;
  value: string | undefined;
  choices: Choices;
  onChoose: (value: string) => void;
}

/** One of several values, or any; a value from the address that is not among them is shown too. */
export function Choice({ label, value = "", choices, onChoose }: ChoiceProps) {
  const known = choices.some(([one]) => one === value);
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChoose(event.target.value)}>
        <option value="">any</option>
        {choices.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
        {value && !known && <option value={value}>{value}</option>}
      </select>
    </label>
  );
}
