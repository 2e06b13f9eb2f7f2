"""What faults were tried, and what they cost."""

from dataclasses import dataclass, field


@dataclass
class Count:
    """Faults of a kind."""

    fault: str
    tried: int = 0  # times that it struck while the work was going on
    finished: int = 0  # clusterings, or answers, that were finished before it struck, or that came after all
    lost: int = 0  # of these, those that were lost, or came out otherwise than without the fault
    notes: list[str] = field(default_factory=list)  # of what was lost, and of what could not be tried

    def lose(self, n, note):
        """Note a loss, if there is one."""
        if n:
            self.lost += n
            self.notes.append(note)


def table(counts):
    """All of them, and the sum."""
    rows = [("fault", "tried", "finished work", "lost")]
    rows += [(one.fault, f"{one.tried:,}", f"{one.finished:,}", f"{one.lost:,}") for one in counts]
    total = [sum(getattr(one, name) for one in counts) for name in ("tried", "finished", "lost")]
    rows.append(("all", *(f"{value:,}" for value in total)))
    wide = [max(len(row[i]) for row in rows) for i in range(4)]
    lines = ["  ".join([name.ljust(wide[0]), *map(str.rjust, cells, wide[1:])]) for name, *cells in rows]
    notes = [f"{one.fault}: {note}" for one in counts for note in one.notes]
    return "\n".join([*lines, *notes])
