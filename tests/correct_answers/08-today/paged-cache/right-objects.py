class PagedCache:
    def __init__(self, n_pages, page_size, dim):
        self.pool = torch.zeros(n_pages, page_size, dim)
        self.page_size = page_size
        self.free_pages = list(range(n_pages))
        self.chats = {}
        self.newest = 0

    def n_free(self):
        return len(self.free_pages)

    def start(self):
        chat = self.newest
        self.newest += 1
        self.chats[chat] = {"pages": [], "length": 0}
        return chat

    def shared(self, page):
        return sum(page in chat["pages"] for chat in self.chats.values()) > 1

    def append(self, chat, entry):
        state = self.chats[chat]
        offset = state["length"] % self.page_size
        if offset == 0:
            state["pages"].append(self.take())
        elif self.shared(state["pages"][-1]):
            page = self.take()
            self.pool[page, :offset] = self.pool[state["pages"][-1], :offset]
            state["pages"][-1] = page
        self.pool[state["pages"][-1], offset] = entry
        state["length"] += 1

    def take(self):
        if not self.free_pages:
            raise MemoryError("the pool is full")
        return self.free_pages.pop()

    def read(self, chat):
        state = self.chats[chat]
        rows = [self.pool[state["pages"][n // self.page_size], n % self.page_size] for n in range(state["length"])]
        return torch.stack(rows) if rows else torch.zeros(0, self.pool.size(2))

    def fork(self, chat):
        twin = self.start()
        self.chats[twin] = {"pages": self.chats[chat]["pages"][:], "length": self.chats[chat]["length"]}
        return twin

    def end(self, chat):
        pages = self.chats.pop(chat)["pages"]
        for page in pages:
            if not any(page in other["pages"] for other in self.chats.values()):
                self.free_pages.append(page)
