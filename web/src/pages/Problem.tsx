// Error page with a way to recover.
import { Button, WarnIcon } from "../ui";

type ProblemProps = {
  problem: { text: string; status?: number };
  again: () => void;
  words?: string;
};

export function Problem({ problem, again, words = "Try again" }: ProblemProps) {
  const signedOut = problem.status === 401;
  return (
    <section className="problem" role="alert">
      <WarnIcon size={28} />
      <h1>{signedOut ? "You are signed out" : "This can’t be shown"}</h1>
      {signedOut ? (
        <p>
          Nothing is lost. Sign in again, or open the address that <code>showandtell token</code> prints.
        </p>
      ) : (
        <p>{problem.text}</p>
      )}
      <div className="problem-actions">
        {signedOut ? (
          <Button look="main" onClick={() => location.reload()}>
            Sign in again
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
