// Page frame: the sidebar and the current view.
import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Bar } from "./chat/Bar";
import { ChatPage } from "./chat/ChatPage";
import { Lightbox } from "./files";
import { lazy } from "./files/lazy";
import { spokenLanguage, t, watchLanguage } from "./language";
import { Problem } from "./pages/Problem";
import { go, useRoute, type Route } from "./router";
import { Sidebar } from "./sidebar/Sidebar";
import { AppProvider, useApp } from "./state/AppProvider";
import { Spinner, Toasts } from "./ui";
import type { ViewProps } from "./viewProps";

const waiting = { meanwhile: () => <Waiting /> };
const MatrixPage = lazy(() => import("./matrix").then((found) => found.MatrixPage), waiting);
const FilesPage = lazy(() => import("./allFiles/FilesPage").then((found) => found.FilesPage), waiting);
const SettingsPage = lazy(() => import("./settings/SettingsPage").then((found) => found.SettingsPage), waiting);

export function App() {
  const [language, setLanguage] = useState(spokenLanguage);
  useEffect(() => watchLanguage(setLanguage), []);
  return (
    <AppProvider>
      <Fragment key={language}>
        <Frame />
        <Lightbox />
        <Toasts />
      </Fragment>
    </AppProvider>
  );
}

function Frame() {
  const route = useRoute();
  const { problem, again } = useApp();
  const [open, setOpen] = useState(false);
  const [folded, setFolded] = useState(() => localStorage.getItem("showandtell.folded") === "1");
  const current = route.at === "conversation" ? route.id : null;
  useEffect(() => setOpen(false), [route.at, current]);
  const fold = () => {
    localStorage.setItem("showandtell.folded", folded ? "0" : "1");
    setFolded(!folded);
  };
  if (problem) return <Problem problem={problem} again={again} />;
  return (
    <div className={`frame ${folded ? "frame-folded" : ""}`}>
      <a className="skip" href="#main">
        {t("page.skip")}
      </a>
      <Sidebar current={current} open={open} onOpen={setOpen} folded={folded} onFold={fold} />
      <main id="main" className="view" tabIndex={-1}>
        <View route={route} menu={() => setOpen(true)} unfold={folded ? fold : null} />
      </main>
    </div>
  );
}

function View({ route, ...view }: ViewProps & { route: Route }) {
  switch (route.at) {
    case "new":
      return <ChatPage id={null} {...view} />;
    case "conversation":
      return <ChatPage id={route.id} {...view} />;
    case "settings":
      return (
        <>
          <Bar {...view} />
          <div className="talk">
            <SettingsPage />
          </div>
        </>
      );
    case "files":
      return (
        <>
          <Bar {...view} />
          <div className="talk">
            <FilesPage />
          </div>
        </>
      );
    case "matrix":
      return (
        <>
          <Bar {...view} />
          <div className="talk">
            <MatrixPage />
          </div>
        </>
      );
    case "nowhere":
      return (
        <Problem
          problem={{ text: t("page.nowhere") }}
          again={() => go("/")}
          words={t("page.startNew")}
        />
      );
  }
}

function Waiting() {
  return (
    <div className="waiting">
      <Spinner label={t("page.loading")} />
    </div>
  );
}
