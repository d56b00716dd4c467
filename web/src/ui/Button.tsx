// Buttons with text, or with an icon and an accessible label.
import type { ButtonHTMLAttributes, ComponentChildren, JSX } from "preact";

type Native = Omit<ButtonHTMLAttributes, "size" | "label" | "icon">;

type ButtonProps = Native & {
  look?: "main" | "plain" | "quiet" | "danger";
  children?: ComponentChildren;
  disabled?: boolean;
  type?: "button" | "submit";
};

export function Button({ look = "plain", type = "button", className = "", children, ...rest }: ButtonProps) {
  return (
    <button {...rest} type={type} className={`button button-${look} ${className as string}`}>
      {children}
    </button>
  );
}

type IconButtonProps = Native & {
  label: string;
  icon: JSX.Element;
  disabled?: boolean;
  type?: "button" | "submit";
  /** For rows of actions. The target is still 24 pixels, or 40 on touch devices. */
  small?: boolean;
};

export function IconButton({ label, icon, small = false, type = "button", className = "", ...rest }: IconButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      aria-label={label}
      title={label}
      className={`icon-button ${small ? "icon-button-small" : ""} ${className as string}`}
    >
      {icon}
    </button>
  );
}
