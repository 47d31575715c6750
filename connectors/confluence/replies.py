"""What Confluence answers, as far as it is used.

``Content`` as Data Center and Cloud's first interface have it, ``Page`` as Cloud's second one.
"""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field, TypeAdapter, field_validator

from connectors.atlassian.people import Group, Person


class Links(BaseModel):
    """Addresses below the site's own."""

    webui: str = ""
    download: str = ""
    base: str = ""
    next: str = ""


class Some(BaseModel):
    """People or groups of a restriction; there may be more of them than these."""

    results: list[Any] = Field(default_factory=list)
    limit: int | None = None
    size: int | None = None
    total: int | None = Field(default=None, alias="totalSize")

    @property
    def is_hidden(self) -> bool:
        """Whether there are some, and the account may see none of them."""
        return not self.results and bool(self.size or self.total)

    @property
    def is_whole(self) -> bool:
        """Whether these are all."""
        is_last = not self.results or (self.limit is not None and len(self.results) < self.limit)
        return is_last and not self.is_hidden


class People(BaseModel):
    """The lists of a restriction, None where they weren't told."""

    user: Some | None = None
    group: Some | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all is told."""
        return self.user is not None and self.group is not None and self.user.is_whole and self.group.is_whole

    @property
    def is_hidden(self) -> bool:
        """Whether it names people or groups that the account may not see."""
        return any(one.is_hidden for one in (self.user, self.group) if one is not None)


class Restriction(BaseModel):
    """Who may do something with a page; nobody in it: whoever sees the space."""

    restrictions: People = Field(default_factory=People)

    @property
    def users(self) -> list[Person]:
        """The people that it names."""
        return PEOPLE.validate_python(self.restrictions.user.results if self.restrictions.user else [])

    @property
    def groups(self) -> list[Group]:
        """The groups that it names."""
        return GROUPS.validate_python(self.restrictions.group.results if self.restrictions.group else [])


class Restrictions(BaseModel):
    """The restrictions that came with a page."""

    read: Restriction | None = None


class Version(BaseModel):
    """A version: its number, and who wrote it when."""

    number: int
    when: datetime | None = None
    created_at: datetime | None = Field(default=None, alias="createdAt")
    by: Person | None = None

    @property
    def at(self) -> datetime | None:
        """When it was written."""
        return self.when or self.created_at


class Body(BaseModel):
    """A text in the storage format."""

    value: str = ""


class Bodies(BaseModel):
    """The forms that a text is told in."""

    storage: Body = Field(default_factory=Body)


class Ref(BaseModel):
    """What another thing is named by."""

    id: str
    type: str = ""

    @field_validator("id", mode="before")
    @classmethod
    def _is_text(cls, native: object) -> object:
        return str(native) if isinstance(native, int) else native


class SpaceRef(BaseModel):
    """The space that something stands in."""

    key: str


class History(BaseModel):
    """Who began something, and when."""

    created_by: Person | None = Field(default=None, alias="createdBy")
    created_date: datetime | None = Field(default=None, alias="createdDate")


class Inline(BaseModel):
    """What a comment in the text is about."""

    original: str = Field(default="", alias="originalSelection")


class Extensions(BaseModel):
    """What kinds of content tell besides."""

    media_type: str = Field(default="", alias="mediaType")
    size: int | None = Field(default=None, alias="fileSize")
    location: str = ""
    inline: Inline | None = Field(default=None, alias="inlineProperties")


class Content(Ref):
    """A page, blog post, comment or attachment."""

    title: str = ""
    status: str = "current"
    version: Version | None = None
    ancestors: list[Ref] | None = None
    container: Ref | None = None
    space: SpaceRef | None = None
    restrictions: Restrictions | None = None
    body: Bodies = Field(default_factory=Bodies)
    history: History | None = None
    extensions: Extensions = Field(default_factory=Extensions)
    links: Links = Field(default_factory=Links, alias="_links")


class Contents(BaseModel):
    """A page of a list."""

    results: list[Content]


class Page(Ref):
    """A page or blog post, a folder or the like, or an attachment, of Cloud's second interface."""

    title: str = ""
    status: str = "current"
    author: str | None = Field(default=None, alias="authorId")
    space: str | None = Field(default=None, alias="spaceId")
    parent: str | None = Field(default=None, alias="parentId")
    parent_type: str | None = Field(default=None, alias="parentType")
    version: Version | None = None
    body: Bodies = Field(default_factory=Bodies)
    page: str | None = Field(default=None, alias="pageId")
    blog_post: str | None = Field(default=None, alias="blogPostId")
    media_type: str = Field(default="", alias="mediaType")
    size: int | None = Field(default=None, alias="fileSize")
    links: Links = Field(default_factory=Links, alias="_links")

    @field_validator("space", "parent", "page", "blog_post", mode="before")
    @classmethod
    def _are_texts(cls, native: object) -> object:
        return str(native) if isinstance(native, int) else native


class Pages(BaseModel):
    """A page of a list of them."""

    results: list[Page]


class Space(BaseModel):
    """A space; its id is a number in one interface and a text in the other."""

    id: int | str
    key: str
    name: str = ""
    type: str = "global"
    status: str = "current"


class Spaces(BaseModel):
    """A page of the list of spaces."""

    results: list[Space]


class Myself(Person):
    """Whom the site takes the account for."""

    type: str = "known"
    links: Links = Field(default_factory=Links, alias="_links")


class Members(BaseModel):
    """A page of a group's members."""

    results: list[Person]


PEOPLE = TypeAdapter(list[Person])
GROUPS = TypeAdapter(list[Group])
CONTENT = TypeAdapter(Content)
CONTENTS = TypeAdapter(Contents)
PAGE = TypeAdapter(Page)
PAGES = TypeAdapter(Pages)
SPACES = TypeAdapter(Spaces)
MEMBERS = TypeAdapter(Members)
RESTRICTION = TypeAdapter(Restriction)
MYSELF = TypeAdapter(Myself)
PERSON = TypeAdapter(Person)
