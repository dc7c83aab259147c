export default function About() {
  return (
    <>
      <h1>About me</h1>
      <p>An answer that runs while you come here goes on.</p>
    </>
  );
}
