/** What a report runs: its menus, tables, timelines and charts, drawn from what the page holds. */
import "../tabs/page";
import "../table/page";
import "../trace/page";
import "../readout/page";
