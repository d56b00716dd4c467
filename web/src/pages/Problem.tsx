// Error page with a way to recover.
import { rich, t } from "../language";
import { Button, WarnIcon } from "../ui";

type ProblemProps = {
  problem: { text: string; status?: number };
  again: () => void;
  words?: string;
};

export function Problem({ problem, again, words = t("page.tryAgain") }: ProblemProps) {
  const signedOut = problem.status === 401;
  return (
    <section className="problem" role="alert">
      <WarnIcon size={28} />
      <h1>{t(signedOut ? "errors.signedOut" : "errors.notShown")}</h1>
      {signedOut ? (
        <p>{rich("errors.signedOutText", { command: "showandtell token", code: (words) => <code>{words}</code> })}</p>
      ) : (
        <p>{problem.text}</p>
      )}
      <div className="problem-actions">
        {signedOut ? (
          <Button look="main" onClick={() => location.reload()}>
            {t("errors.signIn")}
          </Button>
        ) : (
          <Button look="main" onClick={again}>
            {words}
          </Button>
        )}
      </div>
    </section>
  );
}
