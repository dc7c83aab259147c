export default function Home() {
  return (
    <>
      <h1>My portfolio</h1>
      <p>A Next.js site. The chat is in the corner, on every page.</p>
    </>
  );
}
