import React, { useState } from "react";

interface Props {
  count: number;
  label?: string;
}

export function Badge({ count, label = "items" }: Props) {
  const [open, setOpen] = useState<boolean>(false);
  if (count <= 0) {
    return null;
  }
  const text = count > 99 ? "99+" : String(count);
  return (
    <span className="badge" onClick={() => setOpen(!open)}>
      {text} {open && label}
    </span>
  );
}
