"""What sources that are forges (GitHub, GitLab) share: files of a branch, and threads with comments."""
