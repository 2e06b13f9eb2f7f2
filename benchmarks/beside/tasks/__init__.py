"""All tasks, by name."""

from benchmarks.beside.task import Task
from benchmarks.beside.tasks import counts, data, labels, pairs

TASKS: dict[str, Task] = {task.name: task for family in (labels, pairs, data, counts) for task in family.TASKS}
