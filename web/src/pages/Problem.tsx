// A view that can't be shown, and what to do about it.
import { Button, WarnIcon } from "../ui";

type ProblemProps = {
  problem: { text: string; status?: number };
  again: () => void;
  words?: string;
  login?: string | null;
};

export function Problem({ problem, again, words = "Try again", login }: ProblemProps) {
  const signedOut = problem.status === 401;
  return (
    <section className="problem" role="alert">
      <WarnIcon size={28} />
      <h1>{signedOut ? "You are signed out" : "This can’t be shown"}</h1>
      <p>{problem.text}</p>
      {signedOut && !login && (
        <p className="soft">
          Open the address that <code>showandtell serve</code> printed when it started: it holds the key to this page.
        </p>
      )}
      <div className="problem-actions">
        {login && (
          <a className="button button-main" href={login}>
            Sign in
          </a>
        )}
        <Button look={login ? "plain" : "main"} onClick={again}>
          {words}
        </Button>
      </div>
    </section>
  );
}
