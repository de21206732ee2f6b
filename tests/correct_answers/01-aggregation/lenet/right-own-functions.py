class LeNet(nn.Module):
    def __init__(self, size: int, n_classes: int = 10):
        super().__init__()
        side = output_size(output_size(size, 5), 2, stride=2)
        side = output_size(output_size(side, 3), 2, stride=2)
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 3)
        self.fc1 = nn.Linear(16 * side**2, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, n_classes)

    def forward(self, x):
        x = pool2d(conv2d(x, self.conv1.weight, self.conv1.bias).clamp(min=0), 2)
        x = pool2d(conv2d(x, self.conv2.weight, self.conv2.bias).clamp(min=0), 2)
        x = x.reshape(x.size(0), -1)
        x = torch.clamp_min(self.fc1(x), 0)
        x = torch.clamp_min(self.fc2(x), 0)
        return self.fc3(x)
