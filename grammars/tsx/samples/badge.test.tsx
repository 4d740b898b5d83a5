import { render, screen } from "@testing-library/react";
import { Badge } from "./badge";

test("shows the count", () => {
  render(<Badge count={3} />);
  expect(screen.getByText("3")).toBeTruthy();
});
