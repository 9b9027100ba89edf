// The platform of a cluster: next commit.
