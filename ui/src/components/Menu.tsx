import * as Dropdown from "@radix-ui/react-dropdown-menu";
import type { ReactNode } from "react";

interface MenuProps {
  /** The name of the button for people who do not see it. */
  label: string;
  trigger: ReactNode;
  plain?: boolean;
  small?: boolean;
  disabled?: boolean;
  children: ReactNode;
}

/** A button with a menu. It is not modal: a modal one would add styles to the page, which its policy forbids. */
export function Menu({ label, trigger, plain, small, disabled, children }: MenuProps) {
  return (
    <Dropdown.Root modal={false}>
      <Dropdown.Trigger asChild>
        <button
          type="button"
          className={`${plain ? "plain" : ""} ${small ? "small" : ""}`}
          aria-label={label}
          title={label}
          disabled={disabled}
        >
          {trigger}
        </button>
      </Dropdown.Trigger>
      <Dropdown.Portal>
        <Dropdown.Content className="menu" align="end" sideOffset={4} collisionPadding={8}>
          {children}
        </Dropdown.Content>
      </Dropdown.Portal>
    </Dropdown.Root>
  );
}

interface MenuItemProps {
  onSelect: () => void;
  checked?: boolean;
  disabled?: boolean;
  children: ReactNode;
}

export function MenuItem({ onSelect, checked, disabled, children }: MenuItemProps) {
  if (checked === undefined) {
    return (
      <Dropdown.Item className="menu-item" onSelect={onSelect} disabled={disabled ?? false}>
        {children}
      </Dropdown.Item>
    );
  }
  return (
    <Dropdown.CheckboxItem className="menu-item" checked={checked} onSelect={onSelect} disabled={disabled ?? false}>
      {children}
    </Dropdown.CheckboxItem>
  );
}

export function MenuLine() {
  return <Dropdown.Separator className="menu-line" />;
}
