class PagedCache:
    def __init__(self, n_pages, page_size, dim):
        self.pool = torch.zeros((n_pages, page_size, dim))
        self.count = torch.zeros(n_pages, dtype=torch.int64)
        self.chats = []

    def n_free(self):
        return int((self.count == 0).sum())

    def start(self):
        self.chats.append(([], 0))
        return len(self.chats) - 1

    def append(self, chat, entry):
        pages, length = self.chats[chat]
        size = self.pool.shape[1]
        is_new = length == len(pages) * size
        if is_new or self.count[pages[-1]] > 1:
            free = (self.count == 0).nonzero().flatten().tolist()
            if not free:
                raise MemoryError
            page = free[-1]
            self.count[page] += 1
            if not is_new:
                last = pages[-1]
                self.pool[page].copy_(self.pool[last])
                self.count[last] -= 1
                pages = pages[:-1]
            pages = [*pages, page]
        self.pool[pages[-1]][length % size] = entry
        self.chats[chat] = (pages, length + 1)

    def read(self, chat):
        pages, length = self.chats[chat]
        return self.pool[torch.tensor(pages, dtype=torch.int64)].reshape(-1, self.pool.shape[2])[:length].clone()

    def fork(self, chat):
        pages, length = self.chats[chat]
        for page in pages:
            self.count[page] += 1
        self.chats.append((pages, length))
        return len(self.chats) - 1

    def end(self, chat):
        for page in self.chats[chat][0]:
            self.count[page] -= 1
        self.chats[chat] = None
