// The mode does not outlive the page that it was found for.
// places 6.12: mm/page_alloc.c rmqueue_bulk

@ each_page_anew @
identifier mode, list, page;
@@
 rmqueue_bulk(...)
 {
 enum rmqueue_mode mode = RMQUEUE_NORMAL;
 <+...
 list_add_tail(&page->pcp_list, list);
+mode = RMQUEUE_NORMAL;
 ...+>
 }
