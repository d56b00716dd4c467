// Titles by the model, and notifications of long answers.
import { useState } from "preact/hooks";
import { BRAND, type PlainKey, t } from "../language";
import { keepChoice, wantsNotifications } from "../notifications/choice";
import { start } from "../notifications/follow";
import { askPermission, permission, type Permission, show } from "../notifications/show";
import { useApp } from "../state/AppProvider";

export function Conversations() {
  return (
    <>
      <Titles />
      <Notifications />
    </>
  );
}

function Titles() {
  const { settings, save } = useApp();
  return (
    <div className="setting">
      <label className="choice">
        <input
          type="checkbox"
          aria-describedby="titles-note"
          disabled={!settings}
          checked={settings?.titles ?? false}
          onChange={(event) => void save({ titles: event.currentTarget.checked }).catch(() => {})}
        />
        {t("titles.choice")}
      </label>
      <p id="titles-note" className="soft">
        {t("titles.note")}
      </p>
    </div>
  );
}

/** Why there are no notifications though they were asked for. */
const REASONS: Partial<Record<Permission, PlainKey>> = {
  none: "notifications.none",
  denied: "notifications.denied",
  default: "notifications.undecided",
};

function Notifications() {
  const [isOn, turn] = useState(() => wantsNotifications() && permission() === "granted");
  const [reason, explain] = useState<PlainKey | undefined>(() => (wantsNotifications() ? REASONS[permission()] : undefined));
  const choose = async (wanted: boolean) => {
    const answer = wanted ? await askPermission() : "default";
    const works = answer === "granted" && show(BRAND, t("notifications.sample"), "sample");
    keepChoice(works);
    turn(works);
    explain(wanted && !works ? REASONS[answer === "granted" ? "none" : answer] : undefined);
    if (works) start();
  };
  return (
    <div className="setting">
      <label className="choice">
        <input
          type="checkbox"
          aria-describedby="notifications-note"
          checked={isOn}
          onChange={(event) => {
            const { checked } = event.currentTarget;
            event.currentTarget.checked = isOn; // until the user has answered the browser
            void choose(checked);
          }}
        />
        {t("notifications.choice")}
      </label>
      <p id="notifications-note" className="soft">
        {t("notifications.note")}
      </p>
      <div role="status">{reason && <p>{t(reason)}</p>}</div>
    </div>
  );
}
