class PagedCache:
    def __init__(self, n_pages: int, page_size: int, dim: int) -> None:
        self.pool = torch.zeros(n_pages, page_size, dim)
        self.page_size, self.dim = page_size, dim
        self.users = {page: set() for page in range(n_pages)}
        self.table = {}
        self.length = {}

    def n_free(self) -> int:
        return sum(not users for users in self.users.values())

    def start(self) -> int:
        self.next = getattr(self, "next", 100) + 1
        self.table[self.next], self.length[self.next] = (), 0
        return self.next

    def _new_page(self, chat):
        for page, users in self.users.items():
            if not users:
                users.add(chat)
                return page
        raise MemoryError("all pages are in use")

    def append(self, chat: int, entry: torch.Tensor) -> None:
        row = self.length[chat] % self.page_size
        if row == 0:
            self.table[chat] += (self._new_page(chat),)
        else:
            *before, last = self.table[chat]
            if self.users[last] != {chat}:
                page = self._new_page(chat)
                self.users[last].remove(chat)
                self.pool[page, :row] = self.pool[last, :row]
                self.table[chat] = (*before, page)
        self.pool[self.table[chat][-1], row].copy_(entry)
        self.length[chat] += 1

    def read(self, chat: int) -> torch.Tensor:
        pages = [self.pool[page] for page in self.table[chat]]
        return torch.cat([torch.zeros(0, self.dim), *pages])[: self.length[chat]]

    def fork(self, chat: int) -> int:
        twin = self.start()
        self.table[twin], self.length[twin] = self.table[chat], self.length[chat]
        for page in self.table[twin]:
            self.users[page].add(twin)
        return twin

    def end(self, chat: int) -> None:
        for page in self.table.pop(chat):
            self.users[page].discard(chat)
        self.length.pop(chat)
