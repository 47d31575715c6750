"""What sources that are forges (GitHub, GitLab) share: files of a branch, threads, and how faults are borne."""
