class Pictures(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, (5, 5))
        self.conv2 = nn.Conv2d(6, 16, (3, 3))
        self.act = nn.ReLU()

    def seen(self, x):
        for conv in (self.conv1, self.conv2):
            x = F.max_pool2d(self.act(conv(x)), kernel_size=(2, 2), stride=(2, 2))
        return torch.flatten(x, start_dim=1)


class LeNet(Pictures):
    def __init__(self, size, n_classes=10):
        super().__init__()
        left = ((size - 4) // 2 - 2) // 2
        self.fc1 = nn.Linear(left * left * 16, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, n_classes)

    def forward(self, x):
        return self.fc3(self.act(self.fc2(self.act(self.fc1(self.seen(x))))))
