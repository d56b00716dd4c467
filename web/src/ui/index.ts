export { Button, IconButton } from "./Button";
export { Dialog } from "./Dialog";
export { Spinner } from "./Spinner";
export { Toasts, toast } from "./Toasts";
export * from "./icons";
