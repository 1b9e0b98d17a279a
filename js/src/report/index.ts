/** What a report runs: its tabs, menus, tables, timelines, flame graphs and charts, drawn from what the page holds. */
import "../tabs/page";
import "../table/page";
import "../trace/page";
import "../flame/page";
import "../readout/page";
