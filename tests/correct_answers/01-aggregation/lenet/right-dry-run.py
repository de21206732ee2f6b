class LeNet(nn.Module):
    def __init__(self, size, n_classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, kernel_size=5)
        self.conv2 = nn.Conv2d(6, 16, kernel_size=3)
        self.pool = nn.MaxPool2d(2)
        with torch.no_grad():
            n = self.features(torch.zeros(1, 1, size, size)).numel()
        self.fc1, self.fc2, self.fc3 = nn.Linear(n, 120), nn.Linear(120, 84), nn.Linear(84, n_classes)

    def features(self, x):
        x = self.pool(self.conv1(x)).relu()
        return self.pool(self.conv2(x)).relu()

    def forward(self, x):
        x = self.features(x).reshape(len(x), -1)
        for layer in (self.fc1, self.fc2):
            x = layer(x).relu()
        return self.fc3(x)
