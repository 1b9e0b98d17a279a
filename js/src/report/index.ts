/** What a report runs: its tables and its timelines, drawn from what the page holds. */
import "../table/page";
import "../trace/page";
