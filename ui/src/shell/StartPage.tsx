import { Link } from "@tanstack/react-router";
import { Page } from "../components/Page";
import { AREAS } from "./areas";

export function StartPage() {
  return (
    <Page title="Playground" narrow>
      <p className="lead">
        Talk to conversational workflows, look at runs, and understand why they fail. Everything done here is kept.
      </p>
      <ul className="areas">
        {AREAS.map((area) => (
          <li key={area.to}>
            <Link to={area.to}>{area.name}</Link>
            <p>{area.does}</p>
          </li>
        ))}
      </ul>
      <p className="quiet">
        Press <kbd>?</kbd> on any page to see its keys.
      </p>
    </Page>
  );
}
