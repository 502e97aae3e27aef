import { Dialog } from "../components/Dialog";
import { keyWords, namesOf, useKeyList } from "../keys";

/** The keys that work on this page. */
export function KeyHelp({ open, onClose }: { open: boolean; onClose: () => void }) {
  return (
    <Dialog title="Keys" open={open} onClose={onClose}>
      <KeyTable />
    </Dialog>
  );
}

function KeyTable() {
  const keys = useKeyList();
  const seen = new Set<string>();
  const listed = keys.filter((key) => {
    const name = `${namesOf(key).join()} ${key.does}`;
    return !seen.has(name) && seen.add(name);
  });
  return (
    <dl className="key-list">
      {listed.map((key) => (
        <div key={`${namesOf(key).join()} ${key.does}`}>
          <dt>
            {namesOf(key).map((name, place) => (
              <span key={name}>
                {place > 0 && " or "}
                {keyWords(name).map((part) => (
                  <kbd key={part}>{part}</kbd>
                ))}
              </span>
            ))}
          </dt>
          <dd>{key.does}</dd>
        </div>
      ))}
    </dl>
  );
}
